// Package example is a catalogue as an organisation would keep it: the file, the constants and the
// table made from it, and a function that loads it.
package example

import (
	"embed"

	"github.com/a2aexec/a2aexec/errcode/catalog"
)

//go:generate go run github.com/a2aexec/a2aexec/errcode/catalog/errcodegen -in errors.yaml -pkg example -out errors_gen.go -md errors.md

//go:embed errors.yaml
var files embed.FS

// Load reads the catalogue. An error is a [*catalog.FaultsError].
func Load() (*catalog.Catalog, error) {
	return catalog.Load(files, "errors.yaml")
}
