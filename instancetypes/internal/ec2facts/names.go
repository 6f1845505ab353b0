package ec2facts

import (
	"fmt"
	"strings"
)

// splitName splits an instance type into family and size: "m5", "large".
func splitName(name string) (family, size string) {
	family, size, _ = strings.Cut(name, ".")
	return family, size
}

// ascending checks that n names are in order and differ, so that they can be
// searched by halves.
func ascending(n int, name func(int) string) error {
	for i := range n {
		if name(i) == "" {
			return fmt.Errorf("row %d: the name is empty", i)
		}
		if i > 0 && name(i-1) >= name(i) {
			return fmt.Errorf("row %d: name %q does not come after %q", i, name(i), name(i-1))
		}
	}
	return nil
}
