// Package corpus makes the problems that the planners are compared on, from a seed.
package corpus
