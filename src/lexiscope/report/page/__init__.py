"""The page and the folder: HTML, numbering, every result shown, stored parts, runs side by side, exports."""
