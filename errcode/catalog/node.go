package catalog

// kind is the type of a node, in words for people.
type kind string

const (
	// kindBroken is a value that could not be read, which was reported.
	kindBroken kind = ""
	kindNull   kind = "null"
	kindBool   kind = "a boolean"
	kindInt    kind = "a whole number"
	kindFloat  kind = "a number"
	kindString kind = "a string"
	kindList   kind = "a list"
	kindMap    kind = "a map"
)

// maxDepth is how deep a file may be nested; a catalogue needs 4.
const maxDepth = 16

// node is a value in a YAML or JSON file.
type node struct {
	kind   kind
	text   string // of a scalar
	at     spot
	fields []field // of a map
	lost   bool    // some field of the map could not be read, which was reported
}

// field is an entry of a map; duplicates are still in.
type field struct {
	key   string
	at    spot
	value node
}
