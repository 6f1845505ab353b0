package columns

import (
	"io"
	"os"
	"strconv"
)

// defaultWidth is how many columns tables take where nothing says how many there are.
const defaultWidth = 140

// Width returns the width for tables, in characters: the environment variable COLUMNS, else the width of the terminal that
// stdout is, else 140.
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
