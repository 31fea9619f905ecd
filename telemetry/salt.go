package telemetry

import (
	"crypto/rand"

	"magicode/telemetry/rawfile"
)

const (
	saltName  = "telemetry.salt"
	saltBytes = 32
)

// homeSalt is the salt of the home whose state folder is given, made at its
// first use: names cannot be guessed from a file that is handed on.
func homeSalt(state string) ([]byte, bool) {
	dir, err := rawfile.OpenDir(state, false, rawfile.OwnerOnly)
	if err != nil {
		return nil, false
	}
	defer rawfile.Close(dir)
	if salt, err := rawfile.ReadSmall(dir, saltName, saltBytes); err == nil && len(salt) == saltBytes {
		return salt, true
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	fd, err := rawfile.Create(dir, saltName, 0o600)
	if err != nil {
		// Another child was quicker, or what is there is no salt.
		salt, err = rawfile.ReadSmall(dir, saltName, saltBytes)
		return salt, err == nil && len(salt) == saltBytes
	}
	defer rawfile.Close(fd)
	return salt, rawfile.Append(fd, salt) == nil
}
