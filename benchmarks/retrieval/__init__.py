"""MeTMaP's triplets in the live check; questions and passages."""
