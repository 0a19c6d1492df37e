"""People and groups, for superusers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from memory.admin.bulk import bulk
from memory.admin.looking import is_administrator

if TYPE_CHECKING:
    PeopleAdmin = UserAdmin[Any]
else:  # Django's isn't generic at run time
    PeopleAdmin = UserAdmin

User = get_user_model()
admin.site.unregister([User, Group])


class SuperusersOnly:
    """Permissions handed out one by one would open forests of others: people and groups are for superusers too."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    has_change_permission = has_view_permission

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_module_permission(request)


@admin.register(User)
class PersonAdmin(SuperusersOnly, PeopleAdmin):
    """A person is deleted by an action, with their forests, as the page deletes them."""

    actions = [bulk("delete", "person", "Delete with all their forests")]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Group)
class GroupsAdmin(SuperusersOnly, GroupAdmin):
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)
