// Package pools has NodePools as flags want them: those that are assumed where the input has
// none, and those that may buy more than they say.
package pools
