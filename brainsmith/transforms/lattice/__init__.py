"""Which values a tensor of a quantised network can hold, and which of them a quantiser brings to which level."""
