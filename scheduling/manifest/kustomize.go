package manifest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// isKustomization says whether a file is the recipe of kustomize, which is not an
// object of a cluster but makes some.
func isKustomization(name string) bool {
	switch strings.ToLower(filepath.Base(name)) {
	case "kustomization.yaml", "kustomization.yml", "kustomization":
		return true
	}
	return false
}

// kustomized returns those of the files that a recipe among them names for anything but
// an object of its own, such as a patch or the values of a chart, each with the recipe.
func kustomized(files []string) map[string]string {
	parts := map[string]string{}
	for _, f := range files {
		if !isKustomization(f) {
			continue
		}
		for _, name := range named(recipe(f)) {
			parts[filepath.Join(filepath.Dir(f), name)] = f
		}
	}
	return parts
}

// recipe reads a kustomization, as far as it can be read, without what it names as
// objects.
func recipe(file string) any {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxObjectBytes))
	if err != nil {
		return nil
	}
	var fields map[string]any
	if err := yaml.Unmarshal(text, &fields); err != nil {
		return nil
	}
	for _, objects := range []string{"resources", "bases", "components", "crds"} {
		delete(fields, objects)
	}
	return fields
}

// named returns every text in a tree that may name a file, of KEY=FILE the file.
func named(tree any) []string {
	var names []string
	switch t := tree.(type) {
	case map[string]any:
		for _, v := range t {
			names = append(names, named(v)...)
		}
	case []any:
		for _, v := range t {
			names = append(names, named(v)...)
		}
	case string:
		if _, file, keyed := strings.Cut(t, "="); keyed {
			t = file
		}
		if isManifest(t) && !slices.Contains([]byte(t), '\n') {
			names = append(names, t)
		}
	}
	return names
}
