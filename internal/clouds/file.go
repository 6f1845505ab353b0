package clouds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

// Read returns the catalog of a name: one that is embedded, or that of a file; see [Open].
func Read(name string) (*instancetypes.Catalog, error) {
	if c, embedded, err := Open(name); embedded {
		return c, err
	}
	file, kwok := strings.CutPrefix(name, "kwok:")
	f, err := os.Open(file)
	if err != nil {
		meant := ""
		if near := Near(name); len(near) > 0 {
			meant = "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return nil, fmt.Errorf("neither an embedded catalog (catalog --regions lists them) nor a readable file: %w%s", errors.Unwrap(err), meant)
	}
	defer f.Close() //nolint:errcheck // it was only read
	c, err := readFile(file, kwok, f)
	if err != nil {
		return nil, err
	}
	return c.Named(name), nil
}

// readFile reads a file in the format that its name or else its first character tells.
func readFile(name string, kwok bool, r io.Reader) (*instancetypes.Catalog, error) {
	in := bufio.NewReader(r)
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case kwok:
		return instancetypes.ReadKWOK(in)
	case ext == ".csv":
		return instancetypes.ReadCSV(in)
	case ext == ".json":
	default:
		if head, _ := in.Peek(1); len(head) == 1 && head[0] != '{' && head[0] != '[' {
			return instancetypes.ReadCSV(in)
		}
	}
	if head, _ := in.Peek(1); len(head) == 1 && head[0] == '[' {
		return nil, errors.New("is a JSON array; if it is a file of Karpenter's KWOK provider, write kwok: before its name")
	}
	return instancetypes.ReadJSON(in)
}
