package startup

import "os/user"

// PasswordHome gives the current user's home directory from the password
// database, for Env.PasswordHome.
func PasswordHome() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}
