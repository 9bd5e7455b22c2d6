"""What of an item is shown, to whom, and which items are learnt from: views, lists, pairs, splits."""
