// Package redact makes dumps of clusters fit to leave the house: [Strip] takes out of an object
// what plans do not read, among it environment, images, arguments and annotations, and [Names]
// replaces the names that are left, each word by the same one everywhere.
//
// Objects are as encoding/json decodes them. What is not known to be read is taken out, and
// what is not known to mean the same everywhere is replaced, so that new fields stay in the
// house.
package redact
