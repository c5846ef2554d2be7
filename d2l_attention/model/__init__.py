"""Part I's model, one module for each framework, made from the book's `#@save model` cells."""
