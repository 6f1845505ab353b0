package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// isKustomization says whether a file is a kustomization, which makes objects of a cluster and is
// none.
func isKustomization(name string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "kustomization"}, strings.ToLower(filepath.Base(name)))
}

// kustomized returns the files that a kustomization among them names for another purpose than an
// object of its own, e.g. a patch or the values of a chart, each with the kustomization.
func kustomized(files []string) map[string]string {
	parts := map[string]string{}
	for _, f := range files {
		if !isKustomization(f) {
			continue
		}
		text, err := os.ReadFile(f)
		var fields map[string]any
		if err != nil || len(text) > documents.MaxObjectBytes || yaml.Unmarshal(text, &fields) != nil {
			continue
		}
		for _, objects := range []string{"resources", "bases", "components", "crds"} {
			delete(fields, objects)
		}
		for _, name := range namedFiles(fields) {
			parts[filepath.Join(filepath.Dir(f), name)] = f
		}
	}
	return parts
}

// namedFiles returns every text in a tree that may name a file, of KEY=FILE the file.
func namedFiles(tree any) (names []string) {
	switch t := tree.(type) {
	case map[string]any:
		for _, v := range t {
			names = append(names, namedFiles(v)...)
		}
	case []any:
		for _, v := range t {
			names = append(names, namedFiles(v)...)
		}
	case string:
		if _, file, keyed := strings.Cut(t, "="); keyed {
			t = file
		}
		if isManifest(t) && !strings.Contains(t, "\n") {
			names = append(names, t)
		}
	}
	return names
}
