"""Research tools: simulated judges, judge weights, priors, grades and the bias experiment."""
