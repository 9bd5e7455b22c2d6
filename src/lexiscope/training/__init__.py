"""Where models are trained into folders that a subject can load: classifiers and bi-encoders on views, adapters."""
