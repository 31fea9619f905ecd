package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"path/filepath"

	"magicode/telemetry/config"
	"magicode/telemetry/rawfile"
)

// maxPEM bounds a file of certificates or a key (telemetry.md 2.2).
const maxPEM = 1 << 20

// errTLS says that a file of the TLS set-up cannot be used. It keeps no path.
var errTLS = errors.New(config.CodeTLS)

// tlsConfig reads the files that the user's variables name. Without any it
// trusts what the system trusts, which is looked up with the first connection.
func tlsConfig(o *config.OTLP) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.Certificate != "" {
		pem, err := readPEM(o.Certificate)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errTLS
		}
	}
	if o.ClientCertificate == "" && o.ClientKey == "" {
		return c, nil
	}
	certificate, err := readPEM(o.ClientCertificate)
	if err != nil {
		return nil, err
	}
	key, err := readPEM(o.ClientKey)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, errTLS // its text may hold a part of the file
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// readPEM reads a regular file that is named by an absolute path: a relative one
// would be looked up in the project's folder.
func readPEM(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, errTLS
	}
	b, err := rawfile.ReadPath(path, maxPEM)
	if err != nil {
		return nil, errTLS
	}
	return b, nil
}
