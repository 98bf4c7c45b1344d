"""Another implementation of a model file, as a witness of the import."""
