// Package instancetypes describes the machines that can be bought.
package instancetypes
