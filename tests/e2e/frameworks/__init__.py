"""Quantized operators through foreign frameworks, and their integer arithmetic in numpy."""
