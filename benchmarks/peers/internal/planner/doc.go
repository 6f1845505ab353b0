// Package planner lets Plimsoll take part in the comparison.
package planner
