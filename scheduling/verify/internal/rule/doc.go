// Package rule owns the codes of the rules that plans and steps can break, and collects violations in the order in which
// they are found. Package verify documents each code, and makes the error that its users see. This package does not know
// plans.
package rule
