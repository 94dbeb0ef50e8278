"""What layers need of a part, foretold from their parameters: for whole arrays of foldings at once, without a synthesis."""
