"""What checkers and improvers may spend in a day, held over all workers."""
