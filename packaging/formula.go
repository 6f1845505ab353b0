package main

import (
	_ "embed"
	"strings"
	"text/template"
)

//go:embed formula.rb.tmpl
var formulaText string

// formula is the Homebrew formula of a release, for macOS and Linux.
func formula(r *release) (string, error) {
	type platform struct{ Block, URL, SHA256 string }
	systems := map[string][]platform{}
	for i := range r.archives {
		a := &r.archives[i]
		block := map[string]string{"amd64": "on_intel", "arm64": "on_arm"}[a.arch]
		if block != "" {
			systems[a.os] = append(systems[a.os], platform{block, r.url(a.file), a.sha256})
		}
	}
	t, err := template.New("formula").Parse(formulaText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, map[string]any{
		"Summary": summary, "Homepage": homepage, "Version": r.number(), "MacOS": systems["darwin"], "Linux": systems["linux"],
	})
	return b.String(), err
}
