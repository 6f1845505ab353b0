//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used is the time that all cores have spent on this process so far, in user and kernel
// mode, garbage collection included; 0 where the system does not tell.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
