// Package launches puts together what is alike in a plan: launches that buy the same, and pods
// that are refused for the same reasons.
package launches
