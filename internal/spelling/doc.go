// Package spelling finds what a mistyped name may have meant.
package spelling
