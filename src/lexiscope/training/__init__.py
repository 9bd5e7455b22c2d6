"""Where models will be trained into folders that a subject can load. Nothing here yet."""
