package telemetry

import (
	"path/filepath"
	"slices"
	"strings"

	"magicode/telemetry/rawfile"
)

// ReadSalt is the salt of the home whose state folder is given; false where it
// has none that can be read. It makes none.
func ReadSalt(state string) ([]byte, bool) {
	salt, err := rawfile.ReadPath(filepath.Join(state, saltName), saltBytes)
	return salt, err == nil && len(salt) == saltBytes
}

// Resolver maps the hashes in captures of one home back to names that the home
// still knows. It is for tools on the user's machine: a hash cannot be undone,
// only be made again of every name that comes into question.
type Resolver struct {
	names map[nameKind]map[string]string // hash -> name
}

// NewResolver takes the home's salt and all names that it may have recorded.
func NewResolver(salt []byte, names []UserName) *Resolver {
	r := &Resolver{names: map[nameKind]map[string]string{}}
	for _, n := range names {
		if r.names[n.kind] == nil {
			r.names[n.kind] = map[string]string{}
		}
		r.names[n.kind][hashName(n.kind, salt, n.value)] = n.value
	}
	return r
}

// hashedNames are the attributes whose values are hashed with a home's salt.
// Those of the wire's ids are not among them: only the host has the ids.
var hashedNames = [nameKeyCount]nameKind{
	KeySessionRef: nameSession, KeyConversation: nameSession, KeyModel: nameCustomModel, KeyResponseModel: nameCustomModel,
	KeyMCPHash: nameServer, KeyMCPTool: nameTool, KeySubagentHash: nameAgent, KeyProviderHash: nameProvider,
}

// IsHash reports what may be the hash of a name, or no name at all.
func IsHash(s string) bool { return s == "" || hexadecimal(s, hashLength) }

// Name tells what kind of name the value of an attribute is a hash of, "" when it
// is none, and the name, "" when no name of this home has that hash.
func (r *Resolver) Name(key, value string) (kind, name string) {
	k := slices.Index(nameKeys[:], key)
	hash := strings.TrimPrefix(value, sessionPrefix)
	if k < 0 || hashedNames[k] == nameWire || !hexadecimal(hash, hashLength) {
		return "", ""
	}
	of := hashedNames[k]
	if of == nameCustomModel {
		return nameKindTexts[nameModel], r.names[of][hash]
	}
	return nameKindTexts[of], r.names[of][hash]
}
