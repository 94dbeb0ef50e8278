"""What holds of every model, however it is made: its structure, its datatypes, and that reading it runs nothing."""
