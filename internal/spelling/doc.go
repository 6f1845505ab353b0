// Package spelling proposes the known name that a mistyped one is closest to.
package spelling
