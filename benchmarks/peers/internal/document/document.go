package document

import (
	"fmt"
	"os"
	"strings"
)

// Put replaces what stands in the file between the lines
//
//	<!-- begin: SECTION -->
//	<!-- end: SECTION -->
//
// with the text, an empty line around it. A file without these lines is an error.
func Put(file, section, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- begin: "+section+" -->\n", "<!-- end: "+section+" -->"
	head, rest, ok := strings.Cut(string(old), begin)
	if !ok {
		return fmt.Errorf("%s: lacks the line %s", file, strings.TrimSpace(begin))
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return fmt.Errorf("%s: lacks the line %s after its beginning", file, end)
	}
	return os.WriteFile(file, []byte(head+begin+"\n"+strings.Trim(text, "\n")+"\n\n"+end+tail), 0o644)
}
