"""Steps that several algorithms share; algorithms do not import each other."""
