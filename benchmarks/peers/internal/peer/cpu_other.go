//go:build !unix

package peer

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
