// Package cputime reads how much time the cores have spent on this process. On a machine
// that others use, too, it says more than the clock on the wall.
package cputime
