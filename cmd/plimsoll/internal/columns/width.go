package columns

import (
	"io"
	"os"
	"strconv"
)

// defaultWidth is how many columns tables take where nothing says how many there are.
const defaultWidth = 140

// Width returns how many columns there are for tables: what COLUMNS says, or else the width
// of the terminal, if that is what output goes to.
func Width(stdout io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if file, ok := stdout.(*os.File); ok {
		if n := terminalWidth(file); n > 0 {
			return n
		}
	}
	return defaultWidth
}
