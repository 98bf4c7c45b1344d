"""The package of `widget`; its description and RTL lie beside this file."""
