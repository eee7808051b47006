"""Parts that the algorithms share; algorithms themselves do not import each other."""
