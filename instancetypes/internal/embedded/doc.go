// Package embedded finds the regions among a package's embedded files and reads
// their tables. Nothing is kept between calls.
package embedded
