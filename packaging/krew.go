package main

import "sigs.k8s.io/yaml"

// krewManifest is the manifest of the kubectl plugin in a release, for "kubectl krew install plimsoll".
func krewManifest(r *release) (string, error) {
	type file struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	type selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
	type platform struct {
		Selector selector `json:"selector"`
		URI      string   `json:"uri"`
		SHA256   string   `json:"sha256"`
		Files    []file   `json:"files"`
		Bin      string   `json:"bin"`
	}
	var platforms []platform
	for i := range r.archives {
		a := &r.archives[i]
		p := platform{
			Selector: selector{map[string]string{"os": a.os, "arch": a.arch}}, URI: r.url(a.file), SHA256: a.sha256, Bin: a.exe("kubectl-plimsoll"),
		}
		for _, name := range []string{a.exe("kubectl-plimsoll"), a.exe("plimsoll"), "LICENSE"} {
			p.Files = append(p.Files, file{a.root() + "/" + name, "."})
		}
		platforms = append(platforms, p)
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
		"kind":       "Plugin",
		"metadata":   map[string]any{"name": "plimsoll"},
		"spec": map[string]any{
			"version":          r.version,
			"homepage":         homepage,
			"shortDescription": "Find nodes to remove and what blocks savings",
			"description": `Prints a consolidation plan for the nodes of a cluster: which nodes to remove or
replace in a safe order, the savings, the causes that block further savings, and
a proven lower bound on the cost. It can also say why a pod is pending and the
cost of the same pods on other nodes. It only reads the cluster: nodes, pods, and the
objects that decide where pods go, through kubectl, and never Secrets.

  kubectl plimsoll consolidate
  kubectl plimsoll whatif --case 'no spot: --no-spot'
  kubectl plimsoll explain pod/web-0 -n shop
`,
			"platforms": platforms,
		},
	})
	return string(text), err
}
