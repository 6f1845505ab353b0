// Package usage prints how a command is called, with its flags by group.
package usage
