package columns

import (
	"io"
	"os"
	"strconv"
)

// Width returns the width for tables, in characters: the environment variable COLUMNS, else the width of the terminal that
// stdout is. It is 0, which is any width, where stdout is no terminal: programs and files take whole texts.
func Width(stdout io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if file, ok := stdout.(*os.File); ok {
		return terminalWidth(file)
	}
	return 0
}
