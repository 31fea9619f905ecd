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
	if salt, ok := readSalt(dir); ok {
		return salt, true
	}
	if !rawfile.Hold(dir) { // children that start at once would each make one
		return nil, false
	}
	if salt, ok := readSalt(dir); ok {
		return salt, true
	}
	if size, ours := rawfile.Own(dir, saltName); ours && size < saltBytes {
		rawfile.Remove(dir, saltName) // of a child that was killed while it made it
	}
	fd, err := rawfile.Create(dir, saltName, 0o600)
	if err != nil {
		return nil, false // what is there is no salt
	}
	defer rawfile.Close(fd)
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	return salt, rawfile.Append(fd, salt) == nil
}

func readSalt(dir int) ([]byte, bool) {
	salt, err := rawfile.ReadSmall(dir, saltName, saltBytes)
	return salt, err == nil && len(salt) == saltBytes
}
