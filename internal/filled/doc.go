// Package filled makes values of which every field is set, so that a test finds a field that was forgotten.
//
// It owns the values of single fields, e.g. 3Gi for quantities. It promises that every field that can be set is, also
// within pointers, lists, maps and structs. It knows no types of this module.
package filled
