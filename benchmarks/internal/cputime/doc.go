// Package cputime reads the CPU time of this process, all cores together. On a shared machine
// it varies less than elapsed time, because it excludes waiting for a core.
package cputime
