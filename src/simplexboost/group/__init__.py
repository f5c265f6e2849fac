"""Members of a group run the same program, each on its own rows, and add up what they find.

`messages` says what is sent, `member` and `leader` are the two ends of it, `rows` says which rows a member has. How
messages travel is for others to say: `simplexboost.dask` sends them through Dask.
"""

from .leader import Leader, LostMembersError, Traffic, Transport
from .member import Closed, Member
from .messages import Answer, Failure, combined
from .program import Group
from .rows import Scattered, Share, put_together

__all__ = [
    "Answer",
    "Closed",
    "Failure",
    "Group",
    "Leader",
    "LostMembersError",
    "Member",
    "Scattered",
    "Share",
    "Traffic",
    "Transport",
    "combined",
    "put_together",
]
