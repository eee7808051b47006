"""Steps that several algorithms share; algorithms themselves do not import each other."""
