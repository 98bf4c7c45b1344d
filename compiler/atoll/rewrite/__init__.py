"""The network itself made smaller, before devices are chosen: the same outputs, fewer operators."""
