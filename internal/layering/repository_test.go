package layering

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The root module requires little, since every user of the library gets it all.
// Heavy peers and tools live in nested modules.
func TestRootModuleRequiresLittle(t *testing.T) {
	command := exec.Command("go", "mod", "edit", "-json", "go.mod")
	command.Dir = root
	output, err := command.Output()
	require.NoError(t, err)
	var file struct {
		Module  struct{ Path string }
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace []struct{ Old struct{ Path string } }
	}
	require.NoError(t, json.Unmarshal(output, &file))
	assert.Equal(t, module, file.Module.Path)
	assert.Empty(t, file.Replace, "users of a library do not see its replacements")
	for _, requirement := range file.Require {
		if !requirement.Indirect {
			assert.Contains(t, direct(), requirement.Path, "a direct requirement that was not decided on")
		}
	}
}

// elsewhere finds mentions of files outside of the repository, which its readers do not have. The patterns are written
// so that they do not find themselves.
func elsewhere() *regexp.Regexp {
	return regexp.MustCompile(`\.\./` + `shared\b|(^|[^\w.])\.` + `library\b|/work/` + `(main|shared)\b`)
}

func TestRepositoryStandsAlone(t *testing.T) {
	pattern, read := elsewhere(), 0
	walk(t, func(name string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil // not text
		}
		read++
		for number, line := range bytes.Split(text, []byte("\n")) {
			if found := pattern.Find(line); found != nil {
				assert.Fail(t, "mentions a file outside the repository", "%s:%d: %q", name, number+1, found)
			}
		}
		return nil
	})
	assert.NotZero(t, read)
}

func TestElsewhere(t *testing.T) {
	for text, want := range map[string]bool{
		"see ../" + "shared/x.md":       true,
		"../../" + "shared":             true,
		"in ." + "library/search":       true,
		"." + "library":                 true,
		"/work/" + "main/x":             true,
		"../sharedness":                 false,
		"standard.library":              false,
		"a library, shared by everyone": false,
		"../scheduling/x.go":            false,
	} {
		assert.Equal(t, want, elsewhere().MatchString(text), text)
	}
}
