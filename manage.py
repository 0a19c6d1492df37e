#!/usr/bin/env python
"""Every command of ArborWeb. Services that the environment doesn't name are attached to, or started for as long as the command runs."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arborweb.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
