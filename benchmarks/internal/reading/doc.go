// Package reading reads every field of a pod once. What that takes is the least that any
// planner can take which does not know its pods beforehand, and what the time of a solve is
// compared with.
package reading
