"""Tables and figures of one topic that several studies show: accuracy, bias, people, predictions, senses, claims."""
